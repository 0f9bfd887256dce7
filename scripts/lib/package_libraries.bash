# Sourced by scripts/package: the static libraries, with headers, and files for CMake and pkg-config.

pack_libraries() {
  local root=$work/libraries using=()
  DESTDIR=$root cmake --install "$build" --prefix /usr --component libraries >"$work/install.log"
  find "$root/usr" -name '*.a' -exec \
    strip --strip-debug --remove-section=.comment --remove-section=.note -D {} +
  # Where Debian has the files of one architecture, one folder deeper.
  if [[ -d $root/usr/lib/pkgconfig ]]; then
    sed -i 's|^prefix=.*|&/..|' "$root"/usr/lib/pkgconfig/*.pc
    mkdir "$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
    mv "$root/usr/lib/pkgconfig" "$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
  fi
  write_documents "$root" libcoldtrace-dev
  copy_licences "$root/usr/share/doc/libcoldtrace-dev/licences" libfmt-dev libexpected-dev libboost-dev
  make_deb "$root" libcoldtrace-dev <<TEXT
Depends: libstdc++-12-dev, libfmt-dev, libexpected-dev, libzydis-dev, zlib1g-dev, libpugixml-dev, libre2-dev, nettle-dev, libboost-dev
Section: libdevel
Description: libraries that read Windows artefacts, for development
 Static libraries and headers in C++20 of what coldtrace does: PE images and
 PDB files, system call tables, NTFS volumes, registry hives and event traces.
 .
 find_package(coldtrace COMPONENTS ntfs) and pkg-config coldtrace-ntfs find
 each of them with what it needs.
TEXT
}
