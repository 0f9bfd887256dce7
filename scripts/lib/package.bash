# Sourced by scripts/package: what makes one package of a folder, and licences of what is in it.
# Reads: project, output, version, maintainer, architecture, SOURCE_DATE_EPOCH, work.

# copy_licences FOLDER PACKAGE...: of those that are installed; their source packages are added to `using`.
copy_licences() {
  local folder=$1 package
  shift
  mkdir -p "$folder"
  for package; do
    [[ -f /usr/share/doc/$package/copyright ]] || continue
    cp "/usr/share/doc/$package/copyright" "$folder/$package"
    using+=("$(dpkg-query -W -f '${source:Package} (= ${source:Version})' "$package")")
  done
}

# write_documents ROOT NAME: changelog and copyright.
write_documents() {
  local doc=$1/usr/share/doc/$2
  mkdir -p "$doc"
  gzip -9nc "$project/CHANGELOG.md" >"$doc/NEWS.md.gz"
  printf 'coldtrace (%s) unstable; urgency=medium\n\n  * What changed is in NEWS.md.gz.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
  cat >"$doc/copyright" <<TEXT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: coldtrace
Comment: What the files contain of others is in licences/, as the packages
 say that it was built with (Built-Using).

Files: *
Copyright: $(date -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of coldtrace
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
TEXT
}

# needed_packages PROGRAM...: as dpkg-shlibdeps has them.
needed_packages() {
  mkdir -p "$work/debian"
  printf 'Source: coldtrace\n\nPackage: coldtrace\nArchitecture: any\n' >"$work/debian/control"
  (cd "$work" && dpkg-shlibdeps -O "$@" 2>>"$work/shlibdeps.log") | sed -n 's/^shlibs:Depends=//p'
}

# make_deb ROOT NAME: packs ROOT with the fields on standard input. The description comes last.
make_deb() {
  local root=$1 name=$2 size file built_using=()
  file=${name}_${version}_$architecture.deb
  mkdir -p "$root/DEBIAN"
  find "$root" -mindepth 1 -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  size=$(find "$root/usr" -type f -printf '%s\n' | awk '{ k += int(($1 + 1023) / 1024) } END { print k }')
  if ((${#using[@]} > 0)); then
    built_using=("Built-Using: $(printf '%s\n' "${using[@]}" | sort -u | paste -sd, | sed 's/,/, /g')")
  fi
  {
    printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %s\nPriority: optional\n' \
      "$name" "$version" "$architecture" "$maintainer" "$size"
    printf '%s\n' "${built_using[@]}" | sed '/^$/d'
    cat
  } >"$root/DEBIAN/control"
  touch -d "@$SOURCE_DATE_EPOCH" "$root"/DEBIAN "$root"/DEBIAN/*
  dpkg-deb --root-owner-group -Zxz --build "$root" "$output/$file" >"$work/deb.log"
  made+=("$file")
}
