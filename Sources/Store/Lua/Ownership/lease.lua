#!lua flags=allow-oom
-- KEYS lease
-- ARGV fence of the owner to renew or '', nonce, milliseconds, who asks, a lease that has run out or ''
-- → epoch; or, of one that another holds, its owner and the number of its last write. A living owner writes at each
-- renewal. Whether a lease has run out is for who asks to know, by its own clock: Redis' may jump. `u` is for people
-- to read. What cannot be read of a lease is as if nobody held it: a new epoch voids what its owner may still write.
-- use fence
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local held = redis.call('HMGET', KEYS[1], 'o', 'u', 'e', 'v')
local till = string.format('%.0f', now + tonumber(ARGV[3]))
if ARGV[1] ~= '' then
  local refused = refusal()
  if refused then return refused end
  redis.call('HSET', KEYS[1], 'u', till)
  return {held[3]}
end
local ends, last = tonumber(held[2] or 0) or 0, tonumber(held[3] or 0) or 0
if held[1] and held[1] ~= '' and ends > 0 and ends < 1e15 then
  local stamp = held[1] .. ' ' .. (held[4] or '')
  if stamp ~= ARGV[5] then return {false, stamp} end
end
if not (last > 0 and last < 1e15) then last = 0 end
local epoch = string.format('%.0f', math.max(now, last + 1))
redis.call('HSET', KEYS[1], 'o', epoch .. '-' .. ARGV[2], 'u', till, 'e', epoch, 'f', 0, 'c', 0, 'p', 0, 'v', 0,
  'w', ARGV[4])
return {epoch}
