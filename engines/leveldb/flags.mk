# The library is loaded at run time.
PARTS_leveldb = leveldb-family lsm-family
