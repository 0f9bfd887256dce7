// Lists the event providers declared by a file or a folder of files, with their kinds of events.
#include <cstdio>

#include <coldtrace/schema_files/schema_files.hpp>

int main(int argc, char** argv) {
  using namespace coldtrace;
  core::Findings findings;
  schema_files::SchemaFiles files;
  files.add(argc == 2 ? argv[1] : "", findings);
  files.visit({"en-US"}, findings, [](const schema_files::SchemaFiles::Declaration& found) {
    std::printf("%6zu %s %s\n", found.declared.events().size(),
                core::to_string(found.declared.guid()).c_str(), found.declared.name().c_str());
  });
  return files.size() == 0 ? 2 : findings.has_warnings() ? 1 : 0;
}
