#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "cli/command/common_options.hpp"
#include "cli/command/text_input.hpp"
#include "cli/images/other_kind.hpp"
#include "cli/ntfs/given_file.hpp"
#include "cli/output/libzstd.hpp"
#include "cli/output/messages.hpp"
#include "cli/output/stream_packer.hpp"
#include "cli/output/terminal_progress.hpp"
#include "cli/output/text.hpp"
#include "cli/trace/trace_commands.hpp"
#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/image_source.hpp"
#include "coldtrace/core/parallel.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::cli {
namespace {

// The seekable format: frames that each stand alone, and behind them a frame that decoders skip,
// with the sizes of all. Source: zstd, "Zstandard Seekable Format", 0.1.0.
constexpr std::size_t frame_size = std::size_t{1} << 20;  // before packing
constexpr u32 skippable_magic = 0x184D2A5E;
constexpr u32 seekable_magic = 0x8F92EAB1;
constexpr std::size_t entry_size = 8;
constexpr std::size_t footer_size = 9;

struct TracePackOptions : CommonOptions {
  std::string file;
  unsigned jobs = 1;
};

struct TraceUnpackOptions : CommonOptions {
  std::string file;
  std::optional<u64> limit;
};

const Libzstd& zstd_library() {
  const auto* const library = libzstd();
  if (library == nullptr) throw Failure{"zstd needs libzstd (Debian: libzstd1)"};
  return *library;
}

std::unique_ptr<core::ImageSource> open_input(const std::string& path) {
  auto file = open_text_input(path);
  if (!file) throw Failure{fmt::format("{}: {}", printable(path), to_message(file.error()))};
  return std::move(*file);
}

std::string why_not_unpacked(const core::Result<core::FileKind>& kind) {
  if (!kind || core::is_packed(*kind) || *kind == core::FileKind::unknown ||
      *kind == core::FileKind::empty)
    return describe_other(kind, "compressed with zstd");
  return fmt::format("it is {}, which is not compressed", to_string(*kind));
}

void read(const std::string& path, const core::ImageSource& file, u64 offset,
          std::span<std::byte> bytes) {
  const auto done = file.read_at(offset, bytes);
  if (!done) throw Failure{fmt::format("{}: {}", printable(path), done.error())};
}

// Packs one frame after the other. One object a thread.
class FramePacker {
 public:
  explicit FramePacker(const Libzstd& library)
      : library_{library}, packer_{library.create_packer(), library.free_packer} {
    constexpr int level = 3;  // zstd's own default
    if (!packer_) throw Failure{"zstd: out of memory"};
    check(library.set(packer_.get(), Libzstd::level, level));
    check(library.set(packer_.get(), Libzstd::checksum, 1));
  }

  void pack(core::ByteView bytes, std::string& packed) {
    constexpr std::size_t piece = std::size_t{1} << 17;
    packed.clear();
    Libzstd::Input input{bytes.data(), bytes.size(), 0};
    for (std::size_t left = 1; left != 0;) {
      const auto used = packed.size();
      packed.resize(used + piece);
      Libzstd::Output output{packed.data() + used, piece, 0};
      left = check(library_.pack(packer_.get(), &output, &input, Libzstd::end));
      packed.resize(used + output.position);
    }
  }

 private:
  std::size_t check(std::size_t result) const {
    if (library_.is_error(result) != 0)
      throw Failure{fmt::format("zstd: {}", library_.error_name(result))};
    return result;
  }

  const Libzstd& library_;
  std::unique_ptr<Libzstd::Packer, std::size_t (*)(Libzstd::Packer*)> packer_;
};

struct Frame {
  std::vector<std::byte> bytes;
  std::string packed;
};

void append_number(std::string& text, u32 number) {
  for (int i = 0; i < 4; ++i, number >>= 8U) text += static_cast<char>(number & 0xff);
}

// The frame with the sizes of the others.
std::string seek_table(const std::string& entries) {
  std::string table;
  append_number(table, skippable_magic);
  append_number(table, static_cast<u32>(entries.size() + footer_size));
  table += entries;
  append_number(table, static_cast<u32>(entries.size() / entry_size));
  table += '\0';  // entries without checksums: frames have their own
  append_number(table, seekable_magic);
  return table;
}

Exit run_trace_pack(const TracePackOptions& options) {
  if (packing_of(options.output.path) == Packing::gzip)
    throw Failure{"-o: 'trace pack' writes zstd, not gzip: use a name that ends with .zst"};
  if (const auto other = other_packing_of(options.output.path); !other.empty())
    throw Failure{
        fmt::format("-o: 'trace pack' writes zstd, not {}: use a name that ends with .zst", other)};
  const auto& library = zstd_library();
  const auto file = open_input(options.file);
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("packing", "", file->size());
  auto where = options.output;
  where.is_packed = true;
  Output output{where};
  std::vector<std::unique_ptr<FramePacker>> packers;
  for (unsigned i = 0; i < std::max(options.jobs, 1U); ++i)
    packers.push_back(std::make_unique<FramePacker>(library));
  u64 at = 0;
  u64 packed = 0;
  std::string entries;
  core::ordered_pipeline<Frame>(
      options.jobs,
      [&](Frame& frame) {
        frame.bytes.resize(std::min<u64>(frame_size, file->size() - at));
        if (frame.bytes.empty()) return false;
        read(options.file, *file, at, frame.bytes);
        at += frame.bytes.size();
        return true;
      },
      [&](unsigned worker, Frame& frame) { packers[worker]->pack(frame.bytes, frame.packed); },
      [&](Frame& frame) {
        output.write(frame.packed);
        packed += frame.packed.size();
        append_number(entries, static_cast<u32>(frame.packed.size()));
        append_number(entries, static_cast<u32>(frame.bytes.size()));
        progress.add(frame.bytes.size(), 0);
      });
  const auto table = seek_table(entries);
  output.write(table);
  output.commit();
  const u64 limit = tracefile::default_unpacked_limit(packed + table.size());
  if (at > limit && !options.findings.quiet)
    say(
        fmt::format("{}: it compresses so well that only {} bytes of it will be decompressed "
                    "unless --unpacked-limit {} is given\n",
                    printable(options.file), limit, at));
  return Exit::ok;
}

Exit run_trace_unpack(const TraceUnpackOptions& options) {
  const auto& target = options.output.path;
  if (packing_of(target) != Packing::none || !other_packing_of(target).empty())
    throw Failure{
        "-o: 'trace unpack' does not compress: use a name without the extension of a compressed "
        "file, or write data that was compressed twice to standard output"};
  const auto& library = zstd_library();
  const auto file = open_input(options.file);
  const auto name = printable(options.file);
  const auto kind = core::recognize_file(*file);
  if (kind != core::FileKind::zstandard)
    throw Failure{fmt::format("{}: {}", name, why_not_unpacked(kind))};
  const std::unique_ptr<Libzstd::Unpacker, std::size_t (*)(Libzstd::Unpacker*)> unpacker{
      library.create_unpacker(), library.free_unpacker};
  if (!unpacker) throw Failure{"zstd: out of memory"};
  const u64 limit = options.limit.value_or(tracefile::default_unpacked_limit(file->size()));
  auto where = options.output;
  where.is_packed = true;  // bytes as they are, whatever the name
  Output output{where};
  TerminalProgress progress{options.output, options.findings.quiet};
  progress.begin("unpacking", "", file->size());
  std::vector<std::byte> packed;
  std::vector<char> bytes(frame_size);
  u64 written = 0;
  std::size_t left = 0;
  for (u64 at = 0; at < file->size(); at += packed.size()) {
    packed.resize(std::min<u64>(frame_size, file->size() - at));
    read(options.file, *file, at, packed);
    progress.add(packed.size(), 0);
    Libzstd::Input input{packed.data(), packed.size(), 0};
    bool full = false;  // there may be more without further input
    while (input.position < input.size || full) {
      Libzstd::Output unpacked{bytes.data(), bytes.size(), 0};
      const auto before = input.position;
      const auto wanted = library.unpack(unpacker.get(), &unpacked, &input);
      if (library.is_error(wanted) != 0)
        throw Failure{fmt::format("{}: damaged at {:#x}: {}", name, at + input.position,
                                  library.error_name(wanted))};
      // Behind the end of a frame it wants the next one, which need not be there.
      if (input.position != before || unpacked.position != 0) left = wanted;
      written += unpacked.position;
      if (written > limit)
        throw Failure{fmt::format("{}: more than {} bytes; use --unpacked-limit to raise the limit",
                                  name, limit)};
      output.write({bytes.data(), unpacked.position});
      full = unpacked.position == unpacked.size;
    }
  }
  if (left != 0) throw Failure{fmt::format("{}: cut off at {:#x}", name, file->size())};
  output.commit();
  return Exit::ok;
}

}  // namespace

void add_trace_pack(CLI::App& app, Exit& exit) {
  add_command<TracePackOptions>(
      app, exit,
      {"pack",
       "Compress a trace, image or snapshot with zstd, in frames that allow random access; all "
       "commands read it directly",
       "  coldtrace trace pack run.etl -o run.etl.zst\n"
       "  coldtrace trace pack disk.img -o disk.img.zst\n"
       "  zcat disk.img.gz | coldtrace trace pack - -o disk.img.zst\n",
       "  0  it was compressed\n"
       "  2  it cannot be read, or the output cannot be written\n"},
      {"zst"},
      [](Command& command, TracePackOptions& options) {
        command.add_input("FILE", options.file, "Any file or block device; '-' is standard input")
            .required()
            .type_name("FILE");
        add_jobs_option(command, options, options.jobs);
      },
      run_trace_pack);
}

void add_trace_unpack(CLI::App& app, Exit& exit) {
  add_command<TraceUnpackOptions>(
      app, exit,
      {"unpack",
       "Write the bytes that were compressed with zstd, by 'trace pack' or another program",
       "  coldtrace trace unpack run.etl.zst -o run.etl\n",
       "  0  it was unpacked, and its checksums are right\n"
       "  2  it is not compressed with zstd, damaged or cut off, or the output cannot be "
       "written\n"},
      {"raw"},
      [](Command& command, TraceUnpackOptions& options) {
        command.add_input("FILE", options.file, "A file that was compressed with zstd")
            .required()
            .type_name("FILE");
        add_unpacked_limit_option(command, options.limit);
      },
      run_trace_unpack);
}

}  // namespace coldtrace::cli
