# The library is loaded at run time.
PARTS_hyperleveldb = leveldb-family lsm-family
