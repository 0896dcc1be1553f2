#!lua flags=allow-oom
-- Takes out jobs that have nothing left to do.
-- KEYS lease, stream, ready, odd
-- ARGV owner, name, how many of them are odd, entries…
-- use owner
for i = 4, #ARGV do redis.call('XDEL', KEYS[2], ARGV[i]) end
if redis.call('XLEN', KEYS[2]) == 0 then
  redis.call('DEL', KEYS[2])
  redis.call('SREM', KEYS[3], ARGV[2])
end
if ARGV[3] ~= '0' then redis.call('INCRBY', KEYS[4], ARGV[3]) end
return 1
