#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes the kernels of examples/cuda/planted, or both of each of examples/cuda/twins (NAME_a and NAME_b), on this machine's GPU and packs one
# scrubbed capture a kernel into OUT; OUT/cuda gets our own samples of the same program, OUT/times.txt the times of 101 launches in turn, three times.
#
# usage: take.sh INCORE OUT [planted|twins]        (needs nvcc, ncu, CUPTI; the sources are compiled in a folder whose name may stand in a capture: $FOLDER, /srv)
set -eu
incore=$(realpath "$1")
out=$(realpath -m "$2")
set=${3:-planted}
here=$(dirname "$(realpath "$0")")
cuda=$here/../../examples/cuda
folder=${FOLDER:-/srv}/$set
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

mkdir -p "$out/cuda" "$folder" "$folder/../pairs"
cp "$cuda/$set"/*.cu "$folder"
cp "$cuda"/pairs/pair.h "$folder/../pairs"
cp "$cuda"/run.h "$cuda"/all.cu "$folder"/..
cd "$folder"
kernels=$(ls *.cu | sed 's/\.cu$//')
if [ "$set" = twins ]; then
	printf '%s_a\n%s_b -DPAIR_B\n' $(for k in $kernels; do echo $k $k; done)
else
	printf '%s\n' $kernels
fi | LC_ALL=C sort >"$tmp/kernels"
(echo ../all && cat "$tmp/kernels") | xargs -P "$(nproc)" -L 1 sh -c \
	'source=$1; [ -e $1.cu ] || source=${1%_[ab]}; nvcc -O3 -lineinfo -arch=sm_90 -DRUN_ALL $2 -c $source.cu -o "$0/$(basename $1).o"' "$tmp"
nvcc -arch=sm_90 "$tmp"/*.o -o "$tmp/$set"
for start in 1 2 3; do
	"$tmp/$set" -t 101
done >"$out/times.txt"
ncu --set full --import-source yes --clock-control none -f -o "$tmp/$set" "$tmp/$set"
python3 "$here/scrub.py" "$tmp/$set.ncu-rep" "$tmp/scrubbed.ncu-rep" "$folder"
n=0
while read -r kernel _; do
	"$incore" pack -q --level 19 --dispatch $n "$tmp/scrubbed.ncu-rep" -o "$out/$kernel.incore"
	n=$((n + 1))
done <"$tmp/kernels"
"$incore" capture cuda --exact -o "$tmp/cuda" -- "$tmp/$set" -t 40
cp "$tmp"/cuda/*.incore "$out/cuda"
