#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes the kernels of examples/cuda/planted on this machine's GPU and packs one scrubbed capture a kernel into OUT.
#
# usage: take.sh INCORE OUT        (needs nvcc, ncu, CUPTI; OUT/cuda gets our own samples of the same program; the sources are compiled in a folder whose name may stand in a capture: $FOLDER, /srv)
set -eu
incore=$(realpath "$1")
out=$(realpath -m "$2")
here=$(dirname "$(realpath "$0")")
folder=${FOLDER:-/srv}/planted
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

mkdir -p "$out" "$folder"
cp "$here"/../../examples/cuda/planted/*.cu "$folder"
cp "$here"/../../examples/cuda/run.h "$here"/../../examples/cuda/all.cu "$folder"/..
cd "$folder"
ls ../all.cu *.cu | xargs -P "$(nproc)" -I{} sh -c 'nvcc -O3 -lineinfo -arch=native -DRUN_ALL -c {} -o "$1/$(basename {} .cu).o"' - "$tmp"
nvcc -arch=native "$tmp"/*.o -o "$tmp/planted"
ncu --set full --import-source yes --clock-control none -f -o "$tmp/planted" "$tmp/planted"
python3 "$here/scrub.py" "$tmp/planted.ncu-rep" "$tmp/scrubbed.ncu-rep" "$folder"
n=0
for kernel in $(ls *.cu | sed 's/\.cu$//' | LC_ALL=C sort); do
	"$incore" pack -q --level 19 --dispatch $n "$tmp/scrubbed.ncu-rep" -o "$out/$kernel.incore"
	n=$((n + 1))
done
"$incore" capture cuda --exact -o "$tmp/cuda" -- "$tmp/planted" -t 40
mkdir -p "$out/cuda"
cp "$tmp"/cuda/*.incore "$out/cuda"
