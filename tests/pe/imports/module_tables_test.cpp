#include "coldtrace/pe/module_tables.hpp"

#include <catch2/catch.hpp>

using namespace coldtrace;

TEST_CASE(
    "code that runs while a module is loaded is its callbacks, and the entry point of a DLL") {
  pe::ModuleTables tables;
  CHECK_FALSE(tables.runs_while_loaded());
  tables.is_dll = true;
  CHECK_FALSE(tables.runs_while_loaded());
  tables.entry_point = pe::Rva{0x1000};
  CHECK(tables.runs_while_loaded());
  tables.is_dll = false;  // of a program it runs when all is loaded
  CHECK_FALSE(tables.runs_while_loaded());
  tables.tls_callbacks = 1;
  CHECK(tables.runs_while_loaded());
}

TEST_CASE("a slot is bound to the build of an exporter that its import states") {
  pe::ModuleTables importer, exporter;
  importer.dlls = {{"a.dll", false, true, 0x1234}, {"a.dll", false, true, std::nullopt}};
  exporter.time_date_stamp = 0x1234;
  pe::ImportSlot slot{};
  CHECK(importer.is_bound_to(slot, exporter) == true);
  exporter.time_date_stamp = 0x1235;
  CHECK(importer.is_bound_to(slot, exporter) == false);
  slot.dll = 1;
  CHECK(importer.is_bound_to(slot, exporter) == std::nullopt);
}
