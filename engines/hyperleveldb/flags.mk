# The types are those of leveldb/c.h; the library is loaded at run time.
NEEDS_hyperleveldb = libleveldb-dev
PARTS_hyperleveldb = leveldb-family
