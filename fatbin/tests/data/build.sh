#!/bin/sh
# Makes the code objects and bundles of this directory from kernels.hip, with the compilers of Debian 12.
set -e
cd "$(dirname "$0")"
common="-x hip -nogpuinc -nogpulib --cuda-device-only -O2"
for version in 2 3 4; do
    clang++-15 $common --offload-arch=gfx906 -mcode-object-version=$version -c kernels.hip -o v$version.hipfb
done
clang++-19 $common --no-gpu-bundle-output --offload-arch=gfx1100 -mcode-object-version=5 kernels.hip -o v5.hsaco
clang++-19 $common --no-gpu-bundle-output --offload-arch=gfx11-generic -mcode-object-version=6 kernels.hip -o v6.hsaco
targets="--offload-arch=gfx90a:xnack- --offload-arch=gfx1030"
clang++-19 $common $targets -c kernels.hip -o plain.hipfb
clang++-19 $common $targets --offload-compress -c kernels.hip -o compressed.hipfb
