// Lists the exports of an image, below the symbol server path of its PDB.
#include <cstdio>

#include <coldtrace/core/lazy_file.hpp>
#include <coldtrace/core/text.hpp>
#include <coldtrace/pe/export_directory.hpp>
#include <coldtrace/pe/identity.hpp>

int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  const auto file = core::LazyFile::open(argc == 2 ? argv[1] : "", 1 << 30);
  if (!file) return 2;
  const auto image = pe::Image::open(**file, {}, findings);
  if (!image) return 2;
  const auto pdb = pe::find_pdb_reference(*image, findings);
  const auto path = pdb ? pe::symbol_server_path(*pdb) : std::nullopt;
  std::printf("%s\n", path ? path->c_str() : "no PDB that a symbol server may have");
  const auto directory = pe::read_export_directory(*image, findings);
  if (!directory) return 2;
  if (*directory)
    for (const auto& symbol : (*directory)->exports)
      std::printf("%5u 0x%08x %s\n", symbol.ordinal, value(symbol.address),
                  core::to_valid_utf8(symbol.name).c_str());
  return findings.has_warnings() ? 1 : 0;
}
