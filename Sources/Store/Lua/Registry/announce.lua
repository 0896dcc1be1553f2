#!lua flags=allow-oom
-- Lists devices that are about to arrive.
-- KEYS arrivals
-- ARGV time, members
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i]) end
return 1
