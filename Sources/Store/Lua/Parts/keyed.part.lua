-- Messages that were asked for under an idempotency key: each is stored once while its key lives, whoever reserved the
-- key comes when. `keyed(set, row, till)`: the raw ids of a row, and which of them were stored before; nil when a key
-- may have ended, at `till`. `remember` comes last in a script, when they are stored.
-- use clock
local function keyed(set, row, till)
  local ids, known = {}, {}
  for at = 1, #row - 15, 16 do ids[#ids + 1] = string.sub(row, at, at + 15) end
  if #ids == 0 then return ids, known end
  if tonumber(now()) >= tonumber(till) then return nil end
  for i, held in ipairs(redis.call('SMISMEMBER', set, unpack(ids))) do
    if held == 1 then known[ids[i]] = true end
  end
  return ids, known
end
local function remember(set, ids, life)
  if #ids == 0 then return end
  redis.call('SADD', set, unpack(ids))
  -- An hour more than is asked for, so that not every message has to renew it.
  if redis.call('TTL', set) < tonumber(life) then redis.call('EXPIRE', set, life + 3600) end
end
