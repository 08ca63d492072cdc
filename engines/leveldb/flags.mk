# The types come from leveldb/c.h; the library is loaded at run time.
NEEDS_leveldb = libleveldb-dev
PARTS_leveldb = leveldb-family
