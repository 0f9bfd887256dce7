# Sourced by the scripts: Debian packages.

# The product's own needs, in Debian 12.
product_packages=(
  g++ cmake ninja-build
  libfmt-dev libcli11-dev rapidjson-dev libexpected-dev libzydis-dev nettle-dev libboost-dev
  libewf-dev zlib1g-dev libpugixml-dev libre2-dev libsqlite3-dev libarchive-dev liblzma-dev libprotozero-dev
  libseccomp-dev
  libvhdi1 libqcow1 libvmdk1
)

# What the static programs need in addition, with debhelper and dh-python.
static_packages=(
  libvhdi-dev libqcow-dev libvmdk-dev libzstd-dev liblz4-dev libbz2-dev liblief-dev libmbedtls-dev libssl-dev
)

# The Python module.
python_packages=(pybind11-dev python3-dev)

# What the tests need in addition: compilers for Windows, sanitizers, and other programs to compare with.
test_packages=(
  clang-14 lld-14 llvm-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev
  gcc-mingw-w64-x86-64-win32 gcc-mingw-w64-i686-win32
  catch2 liblief-dev libssl-dev openssl osslsigncode pev binutils jq python3 python3-jsonschema python3-yaml python3-hivex
  protobuf-compiler babeltrace2
  ntfs-3g sleuthkit libfsntfs-utils python3-libvshadow libbenchmark-dev psmisc
  zsh fish mandoc python3-sphinx furo python3-myst-parser
  chromium-headless-shell nodejs graphviz
  ewf-tools libbde-utils qemu-utils dosfstools exfatprogs fdisk gcab zip xz-utils zstd bzip2 7zip time tshark strace
  ca-certificates debhelper dh-python lintian pkgconf
  "${python_packages[@]}" mypy
)

# need_packages PACKAGE...: installs the missing ones, as root or through sudo.
need_packages() {
  local package missing=() as_root=()
  if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian system; these are taken to be there: $*"
    return
  fi
  for package; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
      missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    return
  fi
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "These Debian packages are missing, and installing them needs root: ${missing[*]}" >&2
      exit 2
    fi
    as_root=(sudo)
  fi
  echo "Installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null
}
