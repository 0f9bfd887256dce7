# Sourced by scripts/package: the Python module, as a Debian package and as a wheel.

pack_python() {
  local root=$work/python using=() modules tag wheel next contained licences
  modules=$root/usr/lib/python3/dist-packages
  mkdir -p "$modules"
  cp -r "$build/python/coldtrace" "$modules"
  rm -rf "$modules/coldtrace/__pycache__"
  strip --remove-section=.comment --remove-section=.note "$modules"/coldtrace/*.so
  chmod -R u=rwX,go=rX "$modules"
  chmod 644 "$modules"/coldtrace/*
  tag=$(cd "$modules/coldtrace" && printf '%s' *.cpython-*.so | sed 's/.*cpython-\([0-9]\)\([0-9]*\)-.*/\1 \2/')

  next=${tag% *}.$((${tag#* } + 1))
  contained=(pybind11-dev libfmt-dev libexpected-dev libboost-dev zlib1g-dev libpugixml-dev)
  if [[ $(objdump -p "$modules"/coldtrace/*.so) != *NEEDED*libZydis* ]]; then contained+=(libzydis-dev); fi
  write_documents "$root" python3-coldtrace
  licences=$root/usr/share/doc/python3-coldtrace/licences
  copy_licences "$licences" "${contained[@]}"
  wheel=$(/usr/bin/python3 "$project/python/make_wheel.py" "$modules" "$output" "${version%%~*}" "${version#*~}" "${tag/ /}" \
    "$project/LICENSE" "$licences")
  made+=("$wheel")
  mkdir -p "$root/usr/share/lintian/overrides"
  printf 'python3-coldtrace: embedded-library\n' >"$root/usr/share/lintian/overrides/python3-coldtrace"
  make_deb "$root" python3-coldtrace <<TEXT
Depends: python3 (>= ${tag/ /.}~), python3 (<< $next~), $(needed_packages "$modules"/coldtrace/*.so)
Recommends: libewf2, libarchive13, libvhdi1, libqcow1, libvmdk1
Section: python
Description: Python module that reads Windows artefacts
 Volumes and files of disk images, events of traces (ETW), system services,
 hook tables and types of PDB files, as iterators of plain objects, with the
 filters and schemas of the program coldtrace. Type stubs are part of it.
TEXT
}
