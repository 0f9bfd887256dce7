#pragma once

#include <map>
#include <set>
#include <string>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/marked_text.hpp"
#include "coldtrace/tracefile/fields/schema_source.hpp"
#include "coldtrace/tracefile/messages/trace_message.hpp"

namespace coldtrace::tracefile {

// Formats of WPP messages, by the GUID of the source file that logs them and their number in that.
class MessageFormats final : public SchemaSource {
 public:
  using FlagNames = std::set<std::string, std::less<>>;

  // Only those of `wanted` are kept.
  explicit MessageFormats(std::set<SchemaKey> wanted);

  // Whether a file that starts like this is a TMF text.
  [[nodiscard]] static bool is_likely(core::ByteView start);
  static constexpr std::size_t likely_size = 4096;
  // Larger than the formats of a whole Windows.
  static constexpr u64 largest = u64{64} << 20;

  // Reads the formats of a TMF text in any encoding. Returns how many of them are wanted and new.
  // If several have one key, the first takes precedence; those with other arguments are tried as
  // well, and are a finding.
  u64 add(core::ByteView text, const std::string& source, core::Findings& findings);
  // The same for the annotations of a PDB, which hold a TMF text line by line, with a NUL after
  // each; `flags` are the names of the flags that its providers have.
  u64 add_annotations(std::string_view lines, const FlagNames& flags, const std::string& source,
                      core::Findings& findings);

  [[nodiscard]] bool has_all() const { return formats_.size() == wanted_.size(); }

  [[nodiscard]] std::shared_ptr<const EventSchema> find(const SchemaKey& key) const override;
  [[nodiscard]] std::string_view find_provider_name(const core::Guid&) const override { return {}; }
  [[nodiscard]] std::vector<std::shared_ptr<const EventSchema>> find_others(
      const SchemaKey& key) const override;

 private:
  u64 add(std::string_view text, const core::MarkedText* file, char separator,
          const FlagNames& flags, const std::string& source, core::Findings& findings);
  bool add(const SchemaKey& key, EventSchema schema, core::Findings& findings);

  std::set<SchemaKey> wanted_;
  std::map<SchemaKey, std::vector<std::shared_ptr<const EventSchema>>> formats_;
};

}  // namespace coldtrace::tracefile
