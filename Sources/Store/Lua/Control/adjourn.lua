#!lua
-- Quiet hours have begun for the members of a job: it leaves its stream until they end.
-- KEYS lease, stream, ready, starts
-- ARGV owner, entry, name, its entry among the starts, due
-- use owner
redis.call('ZADD', KEYS[4], ARGV[5], ARGV[4])
redis.call('XDEL', KEYS[2], ARGV[2])
if redis.call('XLEN', KEYS[2]) == 0 then
  redis.call('DEL', KEYS[2])
  redis.call('SREM', KEYS[3], ARGV[3])
end
return 1
