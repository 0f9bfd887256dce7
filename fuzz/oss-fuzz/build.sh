#!/bin/bash
# Builds each fuzz target with the compiler and flags of OSS-Fuzz (CC, CXX, CFLAGS, CXXFLAGS), and puts into $OUT
# its program, the libraries that it needs, its corpora and its options. Not tried on OSS-Fuzz.
set -euo pipefail

# Libraries of the system are of libstdc++.
export CXXFLAGS=${CXXFLAGS//-stdlib=libc++/}
build=$WORK/coldtrace
cmake -S "$SRC/coldtrace" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCOLDTRACE_LIBFUZZER=ON \
  -DCOLDTRACE_UNITY=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
mapfile -t targets < <(find "$SRC/coldtrace/fuzz" -name '*_fuzz.cpp' -printf '%f\n' | sed 's/\.cpp$//' | sort)
cmake --build "$build" --target "${targets[@]}"

mkdir -p "$OUT/lib"
for target in "${targets[@]}"; do
  # What the build says of the target: its program, then its corpora.
  mapfile -t known <"$build/fuzz/targets/${target%_fuzz}"
  cp "${known[0]}" "$OUT/$target"
  # The machines that fuzz have the C library alone.
  mapfile -t libraries < <(ldd "$OUT/$target" | awk '$3 ~ "^/" { print $3 }' |
    sed -E '/\/(libc|libm|libdl|librt|libpthread|libresolv)\.so/d')
  if ((${#libraries[@]})); then cp -n "${libraries[@]}" "$OUT/lib/"; fi
  patchelf --set-rpath '$ORIGIN/lib' "$OUT/$target"
  zip -qr "$OUT/${target}_seed_corpus.zip" "${known[@]:1}"
  printf '[libfuzzer]\nmax_len = 65536\ntimeout = 10\n' >"$OUT/$target.options"
done
