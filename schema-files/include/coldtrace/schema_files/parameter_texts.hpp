#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/schema_files/module_messages.hpp"

namespace coldtrace::schema_files {

// The texts for which "%%n" in values of events stands: messages of the providers' parameter files,
// such as msobjs.dll and kernel32.dll. Source: MS Learn, "Event Sources", ParameterMessageFile.
class ParameterTexts final : public tracefile::MessageTexts {
 public:
  // All references have to outlive the object. Damage and missing files are added to `findings`.
  ParameterTexts(const std::vector<std::string>& files, const std::vector<std::string>& languages,
                 core::Findings& findings);

  // The text in the first file that has it. Safe to call from several threads.
  [[nodiscard]] std::string find(u32 id) const override;

 private:
  LanguageFolders folders_;
  std::deque<ModuleMessages> modules_;
  mutable std::mutex mutex_;  // modules read their files on first use
};

}  // namespace coldtrace::schema_files
