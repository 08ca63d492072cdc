# The library is loaded at run time.
PARTS_basho-leveldb = leveldb-family lsm-family
