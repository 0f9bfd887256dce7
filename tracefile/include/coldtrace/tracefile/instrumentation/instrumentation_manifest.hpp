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

  // More is the error `limit`: a document takes up to 16 times its text.
  static constexpr std::size_t largest = std::size_t{16} << 20;

  // The field of the error where a sound document declares no provider.
  static constexpr core::Name no_provider{"provider with a GUID"};

  // Whether a file that begins so may be one.
  [[nodiscard]] static bool is_likely(core::ByteView start);

  // Whether the element that makes it one begins there, so that a file which cannot be read is
  // damaged, and no other text that names it.
  [[nodiscard]] static bool has_root(core::ByteView start);
  // As much of a file as that looks at.
  static constexpr std::size_t likely_size = std::size_t{64} << 10;

  // UTF-8 or UTF-16, in any order of bytes. `offset` is that of the text in its file. Texts are
  // those of the first of the languages that the manifest has a string in, else of en-US, else of
  // the one that there is.
  static core::Result<InstrumentationManifest> read(core::ByteView text, u64 offset,
                                                    const std::vector<std::string>& languages);

  // Those that have a GUID, in the order of the file.
  [[nodiscard]] const std::vector<core::Guid>& providers() const;

  // Null where the manifest does not have the provider. What is odd of it is told to `findings`
  // then and when it is asked for; they outlive the object, which keeps the document.
  [[nodiscard]] std::unique_ptr<ProviderSchemas> find(const core::Guid& provider,
                                                      const Options& options,
                                                      core::Findings& findings) const;

  // Whether a tool made the provider from what Windows tells of one, in which output types, lengths
  // and structures are lost.
  [[nodiscard]] bool is_recreated(const core::Guid& provider) const;

  // Whether its texts are in none of the languages that it was read for; nothing where it has none.
  [[nodiscard]] std::optional<bool> lacks_languages() const;
  // Of the texts that go first, "en-US"; empty where it has none.
  [[nodiscard]] const std::string& language() const;

 private:
  struct Document;
  std::shared_ptr<const Document> document_;
};

}  // namespace coldtrace::tracefile
