#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/schema_files/module_messages.hpp"

namespace coldtrace::schema_files {

// The texts that "%%n" in the values of events stands for: messages of the parameter files of their
// providers, as msobjs.dll and kernel32.dll. Source: MS Learn, "Event Sources",
// ParameterMessageFile.
class ParameterTexts final : public tracefile::MessageTexts {
 public:
  // All outlive the object. What a file lacks or has damaged is told to `findings`.
  ParameterTexts(const std::vector<std::string>& files, const std::vector<std::string>& languages,
                 core::Findings& findings);

  // Of the first file that has it. From several threads.
  [[nodiscard]] std::string find(u32 id) const override;

 private:
  LanguageFolders folders_;
  std::deque<ModuleMessages> modules_;
  mutable std::mutex mutex_;  // modules read their files when they are first asked
};

}  // namespace coldtrace::schema_files
