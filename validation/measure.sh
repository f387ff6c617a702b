#!/usr/bin/env bash
# Measures everything in this folder again; needs an NVIDIA GPU of compute capability 9.0,
# nvcc 13 and ncu, and takes about twenty minutes.
set -euo pipefail
cd "$(dirname "$0")"
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
compile() { nvcc -O3 -std=c++17 -arch=sm_90 -o "$build/program" "$1"; }

compile microbenchmarks/latencies.cu
mkdir "$build/found"
"$build/program" "$build/found"
for name in latencies saturation; do
  mv "$build/found/$name.csv" "microbenchmarks/h200_$name.csv"
done
compile microbenchmarks/l1_lines.cu
"$build/program" >microbenchmarks/h200_l1_lines.csv
for name in sectors streams block_launch overlap; do
  compile "microbenchmarks/$name.cu"
  "$build/program" >"microbenchmarks/h200_$name.csv"
done
nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o "$build/program" microbenchmarks/wgmma.cu
"$build/program" >microbenchmarks/h200_wgmma.csv
compile occupancy/measure.cu
"$build/program" >occupancy/nvcc_kernels.csv
(cd occupancy && python3 compile.py >ptxas_kernels.csv)
rm -f cuda/h200_times.csv cuda/h200_counters.csv
python3 cuda/measure.py cuda/h200_times.csv
python3 cuda/profile.py cuda/h200_counters.csv
python3 access_patterns/patterns.py
rm -f access_patterns/counters.csv
python3 access_patterns/measure.py access_patterns/counters.csv
