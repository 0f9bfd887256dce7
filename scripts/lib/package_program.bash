# Sourced by scripts/package and what it runs: what accompanies the program, and its tarball for all Linux systems.

# The Debian packages whose code the programs contain, static or header-only.
contained=(libfmt-dev libcli11-dev rapidjson-dev libexpected-dev nettle-dev libboost-dev zlib1g-dev libpugixml-dev
  libre2-dev libsqlite3-dev liblzma-dev libprotozero-dev libseccomp-dev liblief-dev libstdc++-12-dev)
# And those of the static programs.
contained_static=(libewf-dev libbfio-dev libvhdi-dev libqcow-dev libvmdk-dev libarchive-dev libzstd-dev
  liblz4-dev libbz2-dev libmbedtls-dev libssl-dev libc6-dev)

# man_pages FOLDER WORD...: of a command and all commands below it.
man_pages() {
  local folder=$1 name=coldtrace word
  shift
  mkdir -p "$folder"
  for word; do name+=-$word; done
  "${coldtrace[@]}" help --man "$@" | gzip -9n >"$folder/$name.1.gz"
  for word in $("${coldtrace[@]}" "$@" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z0-9-]*\)  .*/\1/p'); do
    man_pages "$folder" "$@" "$word"
  done
}

# completion SHELL FILE
completion() {
  mkdir -p "$(dirname "$2")"
  "${coldtrace[@]}" help --completion "$1" >"$2"
}

# documents FOLDER: what help and manual pages refer to, what that links to, and the files that README and the tutorials read.
documents() {
  local header=tracefile/include/coldtrace/trace_writer.h
  mkdir -p "$1/examples" "$1/${header%/*}"
  cp -r "$project/docs" "$1"
  cp "$project"/examples/*.c* "$build"/demo/demo-* "$1/examples"
  cp "$project/$header" "$1/$header"
}

# bin/ and libexec/ side by side, wherever they are unpacked; needs nothing of the system but its kernel.
pack_tarball() {
  local name=coldtrace-${version/\~/-}-linux-$machine using=() root
  root=$work/tarball/$name
  mkdir -p "$root"
  cp -r "$build/static/bin" "$build/static/libexec" "$root"
  "${cross:+$cross-}strip" --remove-section=.comment --remove-section=.note "$root/bin/coldtrace" \
    "$root"/libexec/coldtrace/*
  coldtrace=("${emulator[@]}" "$root/bin/coldtrace")
  man_pages "$root/share/man/man1"
  completion bash "$root/share/bash-completion/completions/coldtrace"
  completion zsh "$root/share/zsh/site-functions/_coldtrace"
  completion fish "$root/share/fish/vendor_completions.d/coldtrace.fish"
  documents "$root/share/doc/coldtrace"
  cp "$project/LICENSE" "$project/CHANGELOG.md" "$root"
  copy_licences "$root/licences" libzydis-dev "${contained[@]}" "${contained_static[@]}"
  {
    printf 'The programs contain code of these source packages of Debian, whose licences lie beside. Those of\n'
    printf 'libewf, libbfio, libvhdi, libqcow, libvmdk, nettle, seccomp and the C library are under the LGPL: their\n'
    printf 'sources are at https://snapshot.debian.org, and scripts/package of coldtrace, whose own source is\n'
    printf 'open, links the programs anew with changed ones.\n\n'
    printf '%s\n' "${using[@]}" | sort -u
  } >"$root/licences/SOURCES"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --format=gnu \
    --mtime="@$SOURCE_DATE_EPOCH" -C "$work/tarball" -cf - "$name" |
    xz -T2 "-${COLDTRACE_XZ_LEVEL:-9}" >"$output/$name.tar.xz"
  made+=("$name.tar.xz")
}
