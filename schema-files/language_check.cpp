#include "schema-files/language_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace coldtrace::schema_files {

void LanguageCheck::note(const std::string& path, const OpenFile& file) {
  const auto lacks = file.lacks_languages();
  if (!lacks) return;
  ++files_;
  if (!*lacks || lacking_++ > 0) return;
  const auto texts = file.language_file();
  first_ =
      fmt::format("{}, whose texts are from {}", path, texts.empty() ? "the file itself" : texts);
}

void LanguageCheck::report(const std::vector<std::string>& languages,
                           core::Findings& findings) const {
  if (lacking_ == 0 || languages.empty()) return;
  if (lacking_ == files_)
    findings.warning("no-match", std::nullopt, "no schema file has texts in {}; the first is {}",
                     fmt::join(languages, " or "), first_);
  else
    findings.info("schema-language", std::nullopt,
                  "{} of {} files {} no texts in {}; the first is {}", lacking_, files_,
                  lacking_ == 1 ? "has" : "have", fmt::join(languages, " or "), first_);
}

}  // namespace coldtrace::schema_files
