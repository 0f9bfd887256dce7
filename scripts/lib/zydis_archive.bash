# Sourced: libZydis.a, which no Debian package contains, from its source package.

# zydis_archive FOLDER [COMPILER-PREFIX]: makes FOLDER/libZydis.a unless it is there.
zydis_archive() {
  local folder=$1 prefix=${2:-} file
  [[ -f $folder/libZydis.a ]] && return
  mkdir -p "$folder/lists/partial"
  (
    cd "$folder"
    # Its own list of sources: the system's may have no source packages.
    echo "deb-src http://deb.debian.org/debian bookworm main" >sources.list
    own=(-q -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null
      -o "Dir::State::Lists=$PWD/lists" -o APT::Sandbox::User=root)
    apt-get "${own[@]}" update
    apt-get "${own[@]}" source zydis
    cd zydis-*/
    for file in src/*.c; do
      "${prefix}gcc" -O2 -fPIC -DNDEBUG -DZYDIS_STATIC_BUILD -DZYCORE_STATIC_BUILD -Iinclude -Isrc \
        -c "$file" -o "$(basename "$file" .c).o"
    done
    "${prefix}ar" rcsD ../libZydis.a ./*.o
  )
}
