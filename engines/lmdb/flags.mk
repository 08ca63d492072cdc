# The types come from lmdb.h; the library is loaded at run time.
NEEDS_lmdb = liblmdb-dev
PARTS_lmdb = lmdb-family
