#include "cli/ntfs/rows/ntfs_streams_json.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/output/csv_text.hpp"
#include "cli/output/json_text.hpp"

namespace coldtrace::cli {
namespace {

// JSON between two values, as a template argument.
template <std::size_t Size>
struct Literal {
  constexpr Literal(const char (&literal)[Size]) {  // NOLINT(google-explicit-constructor)
    std::ranges::copy(literal, text.begin());
  }
  constexpr std::size_t size() const { return Size - 1; }
  std::array<char, Size> text{};
};

template <Literal literal>
constexpr auto doubled = [] {
  constexpr auto size =
      literal.size() + static_cast<std::size_t>(std::ranges::count(literal.text, '"'));
  std::array<char, size> text{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (literal.text[i] == '"') text[at++] = '"';
    text[at++] = literal.text[i];
  }
  return text;
}();

template <Quotes quotes, Literal literal>
void put(core::TextBuffer& out) {
  if constexpr (quotes == Quotes::doubled)
    out.append(std::string_view{doubled<literal>.data(), doubled<literal>.size()});
  else
    out.append(std::string_view{literal.text.data(), literal.size()});
}

template <Quotes quotes, Literal key>
void put_flag(core::TextBuffer& out, bool value) {
  put<quotes, key>(out);
  out.append(value ? std::string_view{"true"} : std::string_view{"false"});
}

}  // namespace

template <Quotes quotes>
void StreamsJson<quotes>::write(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                                const std::vector<ntfs::StreamRow>& streams, StreamTypes types,
                                core::TextBuffer& out) {
  out_ = &out;
  bool first = true;
  for (const auto& stream : streams) {
    if (!first) out.append(',');
    first = false;
    write_stream(snapshot, row, stream, types);
  }
}

template <Quotes quotes>
void StreamsJson<quotes>::write_stream(const ntfs::Snapshot& snapshot, const ntfs::FileRow& row,
                                       const ntfs::StreamRow& stream, StreamTypes types) {
  auto& out = *out_;
  out.append('{');
  if (types == StreamTypes::written) write_type(stream);
  put<quotes, R"("name":)">(out);
  if (stream.name.empty()) {
    out.append("null");
  } else {
    scratch_.clear();
    const bool exact = ntfs::append_utf8(scratch_, stream.name);
    text(scratch_);
    if (!exact) {
      put<quotes, R"(,"name_utf16":)">(out);
      text(ntfs::to_utf16_hex(stream.name));
    }
  }
  put<quotes, R"(,"id":)">(out);
  out.append_decimal(u64{stream.id});
  put_flag<quotes, R"(,"resident":)">(out, stream.resident);
  put<quotes, R"(,"resident_offset":)">(out);
  number_or_null(stream.resident_offset);
  put<quotes, R"(,"fixup_positions":[)">(out);
  write_fixups(row.fixups_of(stream));
  put<quotes, R"(],"size":)">(out);
  number_or_null(stream.size);
  put<quotes, R"(,"allocated":)">(out);
  number_or_null(stream.allocated);
  put<quotes, R"(,"valid":)">(out);
  number_or_null(stream.valid);
  put_flag<quotes, R"(,"compressed":)">(out, stream.compressed);
  put_flag<quotes, R"(,"encrypted":)">(out, stream.encrypted);
  put_flag<quotes, R"(,"sparse":)">(out, stream.sparse);
  put<quotes, R"(,"extents":[)">(out);
  write_extents(snapshot, row.extents_of(stream));
  out.append("]}");
}

template <Quotes quotes>
void StreamsJson<quotes>::write_type(const ntfs::StreamRow& stream) {
  put<quotes, R"("type":)">(*out_);
  const auto type = to_string(stream.type);
  text(type.empty() ? fmt::format("{:#x}", static_cast<u32>(stream.type)) : std::string{type});
  out_->append(',');
}

template <Quotes quotes>
void StreamsJson<quotes>::write_fixups(std::span<const u32> positions) {
  bool first = true;
  for (const u32 position : positions) {
    if (!first) out_->append(',');
    first = false;
    out_->append_decimal(u64{position});
  }
}

template <Quotes quotes>
void StreamsJson<quotes>::write_extents(const ntfs::Snapshot& snapshot,
                                        std::span<const ntfs::Extent> extents) {
  const auto& mft = snapshot.volume().mft();
  bool first = true;
  for (const auto& extent : extents) {
    if (!first) out_->append(',');
    first = false;
    put<quotes, R"({"vcn":)">(*out_);
    number(extent.vcn);
    put<quotes, R"(,"lcn":)">(*out_);
    number_or_null(extent.lcn ? std::optional<u64>{static_cast<u64>(*extent.lcn)} : std::nullopt);
    put<quotes, R"(,"clusters":)">(*out_);
    number(extent.clusters);
    put<quotes, R"(,"offset":)">(*out_);
    const bool placed =
        extent.lcn && !mft.extracted() && mft.clusters().contains(*extent.lcn, extent.clusters);
    number_or_null(placed ? mft.clusters().offset_of(*extent.lcn) : std::nullopt);
    out_->append('}');
  }
}

template <Quotes quotes>
void StreamsJson<quotes>::text(std::string_view text) {
  if constexpr (quotes == Quotes::single) {
    append_json_text(*out_, text);
  } else {
    json_.clear();
    append_json_text(json_, text);
    append_doubled_quotes(*out_, json_.view());
  }
}

template <Quotes quotes>
void StreamsJson<quotes>::number(u64 value) {
  if (quotes == Quotes::single || int64_ == Int64::number)
    return append_json_integer(*out_, value, int64_);
  json_.clear();
  append_json_integer(json_, value, int64_);
  append_doubled_quotes(*out_, json_.view());
}

template <Quotes quotes>
void StreamsJson<quotes>::number_or_null(const std::optional<u64>& value) {
  if (value)
    number(*value);
  else
    out_->append("null");
}

template class StreamsJson<Quotes::single>;
template class StreamsJson<Quotes::doubled>;

}  // namespace coldtrace::cli
