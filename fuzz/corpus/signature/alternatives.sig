signature b of "?f@@YA" { machine x86; source "s", unverified;
  bytes C3 90 ( 89 67 <K:u8> <T:rel8> | 90 <T:rel8> ( 8B <K:u8> | <K:u8> ) ) [3] =K;
  where K aligned 4; where T != -5; }
