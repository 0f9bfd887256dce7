signature a of F { machine x64; version 5.1 to 6.0; source "s", verified;
  anchor section "ztext"; anchor called from "?x@@" within 0x20; anchor within 8 of  G;
  bytes 0A C9 8? [0 to 9] @ <K:u8> ( 90 | 0F ?1 ( C3 | ) ) =K <T:rel32>;
  where K >= 0x20; where T in -1 to 7; }signature b of "?f@@YA" {  #machi signature a of Fe { machine x64; version 5to 6.0;
  where K re } # end
