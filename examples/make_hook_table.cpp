// Makes a binary hook table of a kernel, and reads back what it says about the build.
#include <cstdio>

#include <coldtrace/core/lazy_file.hpp>
#include <coldtrace/syscall-map/hook-table/hook_table_builder.hpp>
#include <coldtrace/syscall-map/hook-table/hook_table_decoder.hpp>
#include <coldtrace/syscall-map/hook-table/hook_table_encoder.hpp>

int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  const auto file = core::LazyFile::open(argc == 2 ? argv[1] : "", 1 << 30);
  if (!file) return 2;
  const auto kernel = pe::Image::open(**file, {}, findings);
  if (!kernel) return 2;
  const syscall_map::KernelView view{*kernel};
  const syscall_map::HookTableSource source{
      {syscall_map::ImageRole::kernel, argv[1], pe::read_identity(*kernel, findings), {}}, &view};
  const std::vector builds{syscall_map::build_hook_table({{source}})};
  const auto bytes = syscall_map::encode_hook_tables(builds);
  if (!bytes) return 2;
  const auto tables = syscall_map::decode_hook_tables(*bytes);
  if (!tables) return 2;
  for (const auto& table : *tables)
    std::printf("%zu bytes, %#x: %zu services, %zu context switches\n", bytes->size(),
                table.images.front().identity.time_date_stamp, table.services.size(),
                table.context_switch.candidates.size());
  return findings.has_warnings() ? 1 : 0;
}
