#!/bin/sh
# stub.sh OUTPUT SONAME MAP: a library for the linker alone. It has the names of a version script and no code; what is linked with it
# needs SONAME when it runs.
set -eu

output=$1 soname=$2 map=$3
temporary=$output.new

{
    echo '.section .note.GNU-stack,"",@progbits'
    echo '.text'
    sed -n 's/^ *\([A-Za-z_][A-Za-z0-9_]*\);$/.globl \1\n.type \1, @function\n\1:/p' "$map"
} | "${CC:-cc}" -shared -nostdlib -o "$temporary" -Wl,-soname,"$soname" -Wl,--version-script="$map" -x assembler -
mv "$temporary" "$output"
