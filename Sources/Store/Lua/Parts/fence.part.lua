-- KEYS[1] is the lease, ARGV[1] what `LeaseFence` writes: its owner, the highest number that Redis has confirmed to
-- it, and the number of this script. A lease of another owner refuses. So does one whose number is below what was
-- confirmed: Redis has lost writes that the owner has seen. Such a lease ends here, as it was granted by a history
-- that ended.
local function refusal()
  local owner, confirmed, number = string.match(ARGV[1], '^(%S+) (%d+) (%d+)$')
  local held = redis.call('HMGET', KEYS[1], 'o', 'v')
  if not owner or held[1] ~= owner then return redis.error_reply('LEASE of another owner') end
  local last = tonumber(held[2] or 0) or 0
  if last < tonumber(confirmed) then
    redis.call('HSET', KEYS[1], 'o', '', 'u', 0)
    return redis.error_reply('HISTORY ends at write ' .. last .. ' and the owner has seen ' .. confirmed)
  end
  if last < tonumber(number) then redis.call('HSET', KEYS[1], 'v', number) end
end
