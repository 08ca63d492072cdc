# The types are those of leveldb/c.h; the library is loaded at run time.
NEEDS_basho-leveldb = libleveldb-dev
PARTS_basho-leveldb = leveldb-family
