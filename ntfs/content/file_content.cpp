#include "coldtrace/ntfs/content/file_content.hpp"

#include "coldtrace/core/printable.hpp"
#include "ntfs/content/wof_content.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using Content = core::Result<std::unique_ptr<core::ImageSource>>;

constexpr u32 tag_wof = 0x80000017;
constexpr u64 largest_reparse_point =
    16384;  // Source: Windows SDK, MAXIMUM_REPARSE_DATA_BUFFER_SIZE

// The value of $REPARSE_POINT with its place, empty where the file has none.
struct ReparseValue {
  std::vector<std::byte> bytes;
  u64 offset = 0;
};

core::Result<ReparseValue> read_reparse_value(const Volume& volume, const File& file) {
  if (file.facts.find(AttributeType::reparse_point) == nullptr) return ReparseValue{};
  const auto stream =
      COLDTRACE_TRY(open_stored_stream(volume, file, AttributeType::reparse_point, {}));
  ReparseValue value{{}, stream->offset_of(0)};
  if (stream->size() > largest_reparse_point)
    return core::fail({Fault::limit, value.offset, "$REPARSE_POINT", "size", largest_reparse_point,
                       stream->size()});
  value.bytes.resize(stream->size());
  COLDTRACE_TRY(stream->read_at(0, value.bytes));
  return value;
}

// Source: Windows SDK, WOF_EXTERNAL_INFO and FILE_PROVIDER_EXTERNAL_INFO_V1.
core::Result<WofAlgorithm> read_algorithm(core::ByteView value, u64 offset) {
  core::Reader in{value, "$REPARSE_POINT", offset};
  in.expect<u32>(tag_wof, "Tag");
  in.skip(4, "DataLength");
  in.expect<u32>(1, "Version", Fault::unsupported);
  in.expect<u32>(2, "Provider", Fault::unsupported);  // 1: in a WIM archive
  in.expect<u32>(1, "ProviderVersion", Fault::unsupported);
  const auto at = in.offset();
  const auto algorithm = in.read_u32("Algorithm");
  if (algorithm > static_cast<u32>(WofAlgorithm::xpress16k))
    in.reject(Fault::unsupported, at, "Algorithm", 3, algorithm);
  return in.finish(static_cast<WofAlgorithm>(algorithm));
}

}  // namespace

Content open_file_content(const Volume& volume, const File& file) {
  auto stream = COLDTRACE_TRY(open_stored_stream(volume, file, AttributeType::data, {}));
  const auto reparse = COLDTRACE_TRY(read_reparse_value(volume, file));
  const auto tag = core::load<u32>(reparse.bytes, 0);
  if (tag == tag_wof) {
    const auto algorithm = COLDTRACE_TRY(read_algorithm(reparse.bytes, reparse.offset));
    if (stream->size() == 0) return stream;
    auto compressed =
        COLDTRACE_TRY(open_stored_stream(volume, file, AttributeType::data, "WofCompressedData"));
    return open_wof_content(std::move(compressed), algorithm, stream->size());
  }
  if (tag && stream->has_holes())
    return core::fail({Fault::unsupported, reparse.offset, "$REPARSE_POINT", "Tag", tag_wof, *tag});
  return stream;
}

u64 stored_content_size(const Volume& volume, const File& file) {
  u64 size = 0;
  for (const auto& attribute : file.facts.attributes) {
    if (attribute.type != AttributeType::data) continue;
    if (attribute.resident) size = core::saturating_add(size, attribute.size);
    DataRunReader runs{attribute.runs, attribute.runs_offset};
    while (const auto run = runs.next())
      if (run->start)
        size = core::saturating_add(
            size, core::saturating_multiply(run->clusters, volume.mft().clusters().cluster_size));
  }
  return size;
}

core::Name content_finding(const core::ParseError& error) {
  if (error.fault == Fault::limit) return "content-unsupported";
  if (error.fault != Fault::unsupported) return "content-damaged";
  if (error.field == "encryption") return "content-encrypted";
  return error.field == "Tag" ? core::Name{"content-elsewhere"} : core::Name{"content-unsupported"};
}

void note_content(std::string_view path, const core::ParseError& error, core::Findings& findings) {
  const auto code = content_finding(error);
  const auto shown = core::printable(path);
  if (code == "content-encrypted" || code == "content-elsewhere")
    findings.info(code, error.offset, "{}: {}", shown, error);
  else
    findings.warning(code, error.offset, "{}: {}", shown, error);
}

}  // namespace coldtrace::ntfs
