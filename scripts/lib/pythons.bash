# Sourced by scripts/package: the interpreters that wheels are made for beside Debian's.

# Of an interpreter: the folder of its headers, and the name that its modules and wheels go by.
python_facts() { "$1" -c "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('SOABI'))" 2>/dev/null; }

# other_pythons: those of COLDTRACE_PYTHONS, or else on the path, that have headers, with ';' between. Two of one version
# have wheels of one name: the first is taken, and none of Debian's version.
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
