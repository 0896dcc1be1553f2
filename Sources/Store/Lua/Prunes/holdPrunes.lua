#!lua flags=allow-oom
-- Puts prunes of one credential aside.
-- KEYS lease, held
-- ARGV owner, how many may be held, seconds that they are kept, (device, packed)…
-- → how many are new, and how many found no room
-- use owner
local count, limit = redis.call('HLEN', KEYS[2]), tonumber(ARGV[2])
local new, dropped = 0, 0
for i = 4, #ARGV, 2 do
  if count + new < limit or redis.call('HEXISTS', KEYS[2], ARGV[i]) == 1 then
    new = new + redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
  else
    dropped = dropped + 1
  end
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
return {new, dropped}
