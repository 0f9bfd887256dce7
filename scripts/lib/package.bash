# Sourced by scripts/package and what it runs: packages of the build, and licences of what they contain.
# Reads: project, build, output, version, maintainer, architecture, SOURCE_DATE_EPOCH, work.

# copy_licences FOLDER PACKAGE...: of the installed ones; their source packages are added to `using`.
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

# pack_debian PACKAGE...: with debhelper, in a copy of debian/ with a changelog for this version.
pack_debian() {
  local source=$work/source package log=$work/debhelper.log
  mkdir "$source"
  cp -r "$project/debian" "$source"
  cp "$project/CHANGELOG.md" "$source/NEWS.md"
  printf 'coldtrace (%s) unstable; urgency=medium\n\n  * What changed is in NEWS.md.gz.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")" >"$source/debian/changelog"
  sed -i "s|@maintainer@|$maintainer|" "$source/debian/control"
  (cd "$source" && COLDTRACE_PROJECT=$project COLDTRACE_BUILD=$build COLDTRACE_PACKAGES="$*" \
    dpkg-buildpackage --build=any -d -us -uc) >"$log" 2>&1 || { cat "$log" >&2; return 1; }
  for package; do
    mv "$work/${package}_${version}_$architecture.deb" "$output"
    made+=("${package}_${version}_$architecture.deb")
  done
}

# pack_wheels: one for each Python that the module was built for.
pack_wheels() {
  local folder licences=$work/source/debian/python3-coldtrace/usr/share/doc/python3-coldtrace/licences
  for folder in "$build"/python-*; do
    cp -r "$folder" "$work"
    folder=$work/${folder##*/}
    rm -rf "$folder/coldtrace/__pycache__"
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "$folder"/coldtrace/*.so
    made+=("$(/usr/bin/python3 "$project/python/make_wheel.py" "$folder" "$output" "${version%%~*}" "${version#*~}" \
      "$project/LICENSE" "$licences")")
  done
}
