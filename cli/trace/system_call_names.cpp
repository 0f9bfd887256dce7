#include "cli/trace/system_call_names.hpp"

#include "cli/images/mapped_image.hpp"
#include "cli/output/json_members.hpp"
#include "cli/trace/traced_image.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/syscall-map/name_hash.hpp"
#include "coldtrace/tracefile/traced_image_identity.hpp"

namespace coldtrace::cli {
namespace {

using tracefile::TracedImage;

constexpr u64 largest_map = u64{64} << 20;
constexpr const char* schema = "coldtrace.syscall-map/1";

class Names {
 public:
  Names(const TracedImage& ntdll, core::Findings& findings) : ntdll_{ntdll}, findings_{findings} {}

  // Whether the numbers of the image are those of the trace.
  bool begin(const TracedImage& identity) {
    const bool same = is_traced_image(identity, ntdll_);
    matched_ |= same;
    name_ = identity.name;
    return same;
  }

  void add(u32 number, const std::string& name, bool same) {
    if (name.empty()) return;
    if (same) names_.by_number.emplace(number, name);
    names_.by_hash.emplace(syscall_map::hash_name(syscall_map::hashed_name(name)), name);
  }

  SystemCallNames take() {
    if (!ntdll_.known())
      findings_.warning("syscall-map-unmatched", std::nullopt,
                        "the trace does not say whose system call numbers it has: none is named");
    else if (!matched_)
      findings_.warning("syscall-map-unmatched", std::nullopt,
                        "{} is not the image whose system call numbers the trace has: none is "
                        "named",
                        name_.empty() ? "the map" : name_);
    return std::move(names_);
  }

 private:
  const TracedImage& ntdll_;
  core::Findings& findings_;
  SystemCallNames names_;
  std::string name_;
  bool matched_ = false;
};

u32 number_of(const rapidjson::Value& object, const char* name) {
  const auto* number = find_member(object, name, &rapidjson::Value::IsUint);
  return number ? number->GetUint() : 0;
}

TracedImage identity_of(const rapidjson::Value& json) {
  TracedImage identity;
  identity.name = text_member(json, "name");
  identity.checksum = number_of(json, "checksum");
  identity.time_date_stamp = number_of(json, "time_date_stamp");
  identity.size_of_image = number_of(json, "size_of_image");
  if (const auto* pdb = find_member(json, "pdb", &rapidjson::Value::IsObject)) {
    const auto guid = text_member(*pdb, "guid");
    const auto known = core::parse_guid(guid);
    if (!known && !guid.empty()) return {.name = std::move(identity.name)};
    identity.pdb_guid = known.value_or(core::Guid{});
    identity.pdb_age = number_of(*pdb, "age");
  }
  return identity;
}

// False when the text is no map.
bool read_json(std::string_view text, Names& names) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject() || text_member(document, "schema") != schema)
    return false;
  const auto* images = find_member(document, "images", &rapidjson::Value::IsArray);
  if (images == nullptr) return false;
  for (const auto& image : images->GetArray()) {
    const auto* identity = find_member(image, "identity", &rapidjson::Value::IsObject);
    const auto* services = find_member(image, "services", &rapidjson::Value::IsArray);
    if (identity == nullptr || services == nullptr) continue;
    const bool same = names.begin(identity_of(*identity));
    for (const auto& service : services->GetArray())
      if (service.IsObject() &&
          find_member(service, "number", &rapidjson::Value::IsUint) != nullptr)
        names.add(number_of(service, "number"), text_member(service, "name"), same);
  }
  return true;
}

bool read_image(const std::string& path, Names& names, Report& report) {
  PeOptions options;
  options.no_hash = true;
  const auto image = map_image(path, options, report);
  if (!image) return false;
  const bool same = names.begin(to_traced_image(image->identity.identity));
  for (const auto& service : image->map.services) names.add(service.number, service.name, same);
  return true;
}

}  // namespace

std::optional<SystemCallNames> read_system_call_names(const std::string& path,
                                                      const TracedImage& ntdll,
                                                      core::Findings& findings, Report& report) {
  Names names{ntdll, findings};
  const auto file = core::FileImage::open(path);
  if (!file) {
    report.failed(path, file.error());
    return std::nullopt;
  }
  std::array<std::byte, 1> first{};
  const bool json = (*file)->size() > 0 && (*file)->size() <= largest_map &&
                    (*file)->read_at(0, first) && first[0] == std::byte{'{'};
  if (!json) {
    if (!read_image(path, names, report)) return std::nullopt;
    return names.take();
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>((*file)->size()));
  if (const auto read = (*file)->read_at(0, bytes); !read) {
    report.failed(path, read.error());
    return std::nullopt;
  }
  if (!read_json(core::to_chars(bytes), names)) {
    report.failed(path, "not the output of 'coldtrace syscalls map --format json'");
    return std::nullopt;
  }
  return names.take();
}

}  // namespace coldtrace::cli
