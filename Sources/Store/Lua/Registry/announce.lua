#!lua flags=allow-oom
-- Lists devices that are about to arrive.
-- KEYS arrivals
-- ARGV time, members
local list = {}
for i = 2, #ARGV do list[i * 2 - 3], list[i * 2 - 2] = ARGV[1], ARGV[i] end
redis.call('ZADD', KEYS[1], unpack(list))
return 1
