#include "coldtrace/ntfs/journal/usn_names.hpp"

namespace coldtrace::ntfs {

const std::vector<UsnFlag>& usn_reasons() {
  static const std::vector<UsnFlag> reasons = {
      {0x1, "data_overwrite", "DataOverwrite"},
      {0x2, "data_extend", "DataExtend"},
      {0x4, "data_truncation", "DataTruncation"},
      {0x10, "named_data_overwrite", "NamedDataOverwrite"},
      {0x20, "named_data_extend", "NamedDataExtend"},
      {0x40, "named_data_truncation", "NamedDataTruncation"},
      {0x100, "file_create", "FileCreate"},
      {0x200, "file_delete", "FileDelete"},
      {0x400, "ea_change", "EaChange"},
      {0x800, "security_change", "SecurityChange"},
      {0x1000, "rename_old_name", "RenameOldName"},
      {0x2000, "rename_new_name", "RenameNewName"},
      {0x4000, "indexable_change", "IndexableChange"},
      {0x8000, "basic_info_change", "BasicInfoChange"},
      {0x10000, "hard_link_change", "HardLinkChange"},
      {0x20000, "compression_change", "CompressionChange"},
      {0x40000, "encryption_change", "EncryptionChange"},
      {0x80000, "object_id_change", "ObjectIdChange"},
      {0x100000, "reparse_point_change", "ReparsePointChange"},
      {0x200000, "stream_change", "StreamChange"},
      {0x400000, "transacted_change", "TransactedChange"},
      {0x800000, "integrity_change", "IntegrityChange"},
      {0x1000000, "desired_storage_class_change", "DesiredStorageClassChange"},
      {0x80000000, "close", "Close"}};
  return reasons;
}

const std::vector<UsnFlag>& usn_sources() {
  static const std::vector<UsnFlag> sources = {
      {0x1, "data_management", "DataManagement"},
      {0x2, "auxiliary_data", "AuxiliaryData"},
      {0x4, "replication_management", "ReplicationManagement"},
      {0x8, "client_replication_management", "ClientReplicationManagement"}};
  return sources;
}

}  // namespace coldtrace::ntfs
