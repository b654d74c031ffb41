#!/bin/sh
# link.sh OUTPUT SONAME ARCHIVE MAP: links a shared library from a Rust static library. Only what MAP names stays visible,
# under the version nodes of MAP; cargo's own cdylib cannot give symbols versions.
set -eu

output=$1 soname=$2 archive=$3 map=$4
temporary=$output.new
externs=$output.externs

# The exported names pull in what they need. Not --whole-archive: Rust's compiler_builtins has hidden symbols of the same
# names as some of ours, and a hidden definition in the link hides ours too.
{
    echo 'EXTERN('
    sed -n 's/^ *\([A-Za-z_][A-Za-z0-9_]*\);$/\1/p' "$map"
    echo ')'
} >"$externs"

# nodelete: worker threads run our code until the process ends. text: no relocations in code.
"${CC:-cc}" -shared -o "$temporary" \
    -Wl,-soname,"$soname" \
    "$externs" "$archive" \
    -Wl,--version-script="$map" \
    -Wl,-z,nodelete -Wl,-z,defs -Wl,-z,text -Wl,-z,relro -Wl,-z,now \
    -Wl,-Bsymbolic-functions -Wl,--gc-sections -Wl,--as-needed -Wl,--build-id \
    -lgcc_s -lpthread -ldl -lm -lc
rm "$externs"
mv "$temporary" "$output"
