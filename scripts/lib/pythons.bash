# Sourced by scripts/package: the interpreters, besides Debian's, for which wheels are made.

# For an interpreter: the folder of its headers, and the tag of its modules and wheels.
python_facts() { "$1" -c "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('SOABI'))" 2>/dev/null; }

# other_pythons: those in COLDTRACE_PYTHONS, or else on the path, that have headers, separated by ';'. Wheels for one
# version have the same name: the first interpreter is taken, and none of Debian's version.
other_pythons() {
  local each found=() names headers name known
  known=" $(python_facts /usr/bin/python3 | cut -d' ' -f2) "
  read -ra names <<<"${COLDTRACE_PYTHONS-$(compgen -c python3. | grep -x 'python3\.[0-9]*' | sort -u | paste -sd ' ')}"
  for each in "${names[@]}"; do
    each=$(command -v "$each") && read -r headers name < <(python_facts "$each") || continue
    [[ -f $headers/Python.h && $known != *" $name "* ]] || continue
    found+=("$each")
    known+="$name "
  done
  (IFS=';' && printf '%s' "${found[*]}")
}
