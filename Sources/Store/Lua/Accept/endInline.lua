#!lua flags=allow-oom
-- Outcomes of inline messages of one hour, and the entries of one stream that have nothing left to do then.
-- KEYS lease, inline messages, segment, segments, ready, stream, tallies
-- ARGV owner, hour, retention, number of inline messages, name of the stream, number of entries, entries…, raw ids…,
-- what stands behind the facts of each…, for each 1 if its request is kept, names to tally…, and in a row which of
-- these each one is, a byte from 1. Facts begin with the app, behind a byte of its length
-- → raw ids of those that are no inline messages any more: nothing was done for them, nor to the entries
-- use owner, clock
local count, first = tonumber(ARGV[4]), 6 + ARGV[6]
local held = redis.call('HMGET', KEYS[2], unpack(ARGV, first + 1, first + count))
local kept, gone, others, bytes, ended = {}, {}, {}, 0, {}
local names = {string.byte(ARGV[#ARGV], 1, -1)}
for i = 1, count do
  local message, id = held[i], ARGV[first + i]
  local border = message and #message >= 4 and struct.unpack('>I4', message) + 4
  if border then
    local value = string.sub(message, 1, border) .. ARGV[first + count + i] .. now()
    if ARGV[first + 2 * count + i] == '1' then value = value .. string.sub(message, border + 1) end
    kept[#kept + 1] = 's' .. id
    kept[#kept + 1] = value
    gone[#gone + 1] = id
    local app = string.sub(message, 6, 5 + (string.byte(message, 5) or 0))
    local own = ended[app]
    if not own then
      own = {}
      ended[app] = own
    end
    own[names[i]] = (own[names[i]] or 0) + 1
    bytes = bytes + #value + 120
  else
    others[#others + 1] = id
  end
end
if #gone > 0 then
  redis.call('HSET', KEYS[3], unpack(kept))
  if redis.call('TTL', KEYS[3]) < tonumber(ARGV[3]) then redis.call('EXPIRE', KEYS[3], ARGV[3]) end
  redis.call('ZINCRBY', KEYS[4], bytes, ARGV[2])
  redis.call('HDEL', KEYS[2], unpack(gone))
  for app, own in pairs(ended) do
    for name, count in pairs(own) do
      redis.call('HINCRBY', KEYS[7], ARGV[first + 3 * ARGV[4] + name] .. '\1' .. app, count)
    end
  end
end
if #others == 0 and ARGV[6] ~= '0' then
  redis.call('XDEL', KEYS[6], unpack(ARGV, 7, first))
  if redis.call('XLEN', KEYS[6]) == 0 then
    redis.call('DEL', KEYS[6])
    redis.call('SREM', KEYS[5], ARGV[5])
  end
end
return others
