x include "x" include "yy"
