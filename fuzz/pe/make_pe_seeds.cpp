// Writes the seeds of corpus/pe_image, corpus/api_set and corpus/pe_resources anew: make_pe_seeds
// CORPUS

#include <filesystem>
#include <fstream>

#include "fixtures/builders/api_set_schema.hpp"
#include "fixtures/builders/byte_writer.hpp"
#include "fixtures/builders/pe_directories.hpp"

namespace {

using namespace coldtrace;
using namespace coldtrace::fixtures;

void write(const std::filesystem::path& path, const Bytes& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file{path, std::ios::binary};
  for (const auto byte : bytes) file.put(static_cast<char>(byte));
}

PeSpec everything(bool pe32_plus, u16 machine) {
  PeSpec spec;
  spec.pe32_plus = pe32_plus;
  spec.machine = machine;
  if (!pe32_plus) spec.image_base = 0x1000'0000;
  spec.exports = PeExports{
      "seed.dll", 5, {{"Alpha", 5, 0x1000}, {"Beta", 6, 0, "NTDLL.RtlBeta"}, {"", 9, 0x1000}}};
  spec.imports = {{"KERNEL32.dll", {{"CreateFileW", 0xc3}, {"", 7}}},
                  {"ntdll.dll", {{"NtClose", 2}}, 0, false}};
  spec.delay_imports = {{"ole32.dll", {{"CoInitialize", 1}}, 0, true, !pe32_plus}};
  spec.relocations = {{0x1000, 10}, {0x2008, 3}};
  spec.code_view = PeCodeView{};
  spec.code_view->old_format = !pe32_plus;
  spec.version = PeVersion{};
  spec.version->strings = {{"OriginalFilename", "seed.dll"}};
  spec.resources = {{11U, 1U, 0x409, build_message_table(0x100, {{"one", true}, {"two", false}})},
                    {"WEVT_TEMPLATE", 1U, 0x409, to_bytes("CRIM")}};
  ByteWriter functions;
  functions.write_u32(0x1000).write_u32(machine == 0x8664 ? 0x1001 : 0x41).write_u32(0x1000);
  spec.exception_table = functions.bytes();
  spec.load_config = ByteWriter{}.write_u32(0x140).pad_to(200).write_u64(0x1000).bytes();
  spec.tls = ByteWriter{}.write_zeros(24).write_u64(spec.image_base + 0x1000).write_u64(0).bytes();
  return spec;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path corpus{argv[1]};
  const auto images = corpus / "pe_image";
  write(images / "empty-x64", build_pe().bytes);
  write(images / "x64", build_pe(everything(true, 0x8664)).bytes);
  write(images / "x64-memory", as_loaded(build_pe(everything(true, 0x8664))));
  write(images / "x86", build_pe(everything(false, 0x14c)).bytes);
  write(images / "arm64", build_pe(everything(true, 0xaa64)).bytes);
  write(images / "arm32", build_pe(everything(false, 0x1c4)).bytes);
  auto flat = everything(false, 0x14c);
  flat.section_alignment = flat.file_alignment = 0x80;
  write(images / "x86-alignment-0x80", build_pe(flat).bytes);

  // tests/pe/imports/hooks_iat_test.py puts these beside a program that imports the first.
  const std::vector<ApiSetSpec> sets{
      {"api-ms-win-fixture-l1-1-0", {{"", "base.dll"}, {"middle.dll", "late.dll"}}},
      {"ext-ms-win-absent-l1-1-0", {{"", ""}}}};
  for (const u32 version : {2U, 4U, 6U}) {
    const auto name = "version-" + std::to_string(version);
    write(corpus / "api_set" / name, build_api_set_schema(version, sets));
    write(images / ("api-set-schema-" + name), build_pe(api_set_schema_image(version, sets)).bytes);
  }

  const auto resources = corpus / "pe_resources";
  const PeTarget at_first_section{0x1000, true, 0x1'8000'0000};
  const auto spec = everything(true, 0x8664);
  auto all = spec.resources;
  all.push_back({16U, 1U, 0x409, build_version(*spec.version)});
  write(resources / "tree", build_resources(all, at_first_section));
  write(resources / "version", build_version(*spec.version));
  write(resources / "messages", spec.resources[0].content);
}
