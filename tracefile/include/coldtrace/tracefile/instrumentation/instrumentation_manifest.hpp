#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/tracefile/instrumentation/provider_schemas.hpp"

namespace coldtrace::tracefile {

// An instrumentation manifest as XML (.man): what the message compiler reads, what EventSources
// write, and what tools re-create. Source: MS Learn, "EventManifest Schema"; .NET's
// ManifestBuilder.
class InstrumentationManifest {
 public:
  struct Options {
    std::string source;                  // of the schemas, EventSchema::source
    std::size_t most_parts = 1'000'000;  // fields and map entries of one provider
  };

  // Anything larger is the error `limit`: a document takes up to 16 times the size of its text.
  static constexpr std::size_t largest = std::size_t{16} << 20;

  // The field of the error if a valid document declares no provider.
  static constexpr core::Name no_provider{"provider with a GUID"};

  // Whether a file that begins like this may be one.
  [[nodiscard]] static bool is_likely(core::ByteView start);

  // Whether the element that makes it one begins there: then a file that cannot be read is a
  // damaged manifest, not another text that mentions one.
  [[nodiscard]] static bool has_root(core::ByteView start);
  // How much of a file those look at.
  static constexpr std::size_t likely_size = std::size_t{64} << 10;

  // UTF-8, or UTF-16 in either byte order, with or without a byte order mark, or as it declares
  // ISO 8859-1 or Windows-1252. `offset` is that of the text in its file. Texts are in
  // the first of the languages in which the manifest has a string, else in en-US, else in the one
  // that there is.
  static core::Result<InstrumentationManifest> read(core::ByteView text, u64 offset,
                                                    const std::vector<std::string>& languages);

  // What U+FFFD stands for in its texts, the first of it at a byte of its file.
  struct TextDamage {
    u64 offset;
    std::string text;
  };
  [[nodiscard]] const std::vector<TextDamage>& text_damage() const;

  // Those that have a GUID, in the order of the file.
  [[nodiscard]] const std::vector<core::Guid>& providers() const;

  // Null if the manifest does not have the provider. What is odd about it is reported to `findings`
  // both then and when its parts are asked for; they must outlive the object, which keeps the
  // document.
  [[nodiscard]] std::unique_ptr<ProviderSchemas> find(const core::Guid& provider,
                                                      const Options& options,
                                                      core::Findings& findings) const;

  // Whether a tool made the provider from what Windows reports about one, in which output types,
  // lengths and structures are lost.
  [[nodiscard]] bool is_recreated(const core::Guid& provider) const;

  // Whether its texts are in none of the languages that it was read for; nothing if it has none.
  [[nodiscard]] std::optional<bool> lacks_languages() const;
  // Language of the texts that take precedence, "en-US"; empty if it has none.
  [[nodiscard]] const std::string& language() const;

 private:
  struct Document;
  std::shared_ptr<const Document> document_;
};

}  // namespace coldtrace::tracefile
