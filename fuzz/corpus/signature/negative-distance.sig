signature a of F2 { machine x64; version 5.1 to 6.0; source "üs", verified;
  anchor section ".text"; anchor called from "Cx@@" within 5120; anchor within -8 of G;
  bytes 0A C9 8? [0 to 9] @ <K:u8> ( 90 | 0F ?1 ( C3 | ) ) =K <T:rel32>;
  where K >= 0x2 ; where T in -1 to 7; } # end
