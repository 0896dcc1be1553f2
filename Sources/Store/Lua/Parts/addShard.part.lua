-- Adds a message's part of a partition: `addShard(at, id, w, d, base, firstStream, ready, waiting, channel,
-- partition)`, `base` the sequence of its first delivery; answers whether nothing of it is left to do. `step` is nil
-- of a part that comes as a whole, else which step it is (from 0), the index of its first delivery and how many
-- deliveries the part has: `ps` in the work hash counts the steps that are here, `z` is their last sequence, lists of
-- later steps are in `t1` and so on. ARGV from `at`: ttl, app, count, list, ended and jobs as `MessageShard` writes them.
-- What may be damaged, a stream, is written before what tells that the part is here.
-- use mark, tally
local filled = {}
local function addShard(at, id, w, d, base, firstStream, ready, waiting, channel, partition, step)
  local ttl, app, count, list, ended = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], tonumber(ARGV[at + 4])
  at = at + 5
  local job = at + 3 * ended + 1
  for i = 1, tonumber(ARGV[job - 1]) do
    local name, first = ARGV[job + 1], ARGV[job + 2]
    local place = base + first - (step and step.first or 0)
    redis.call('XADD', KEYS[firstStream + tonumber(ARGV[job])], string.format('%.0f', place) .. mark(id),
      'm', id, 'f', first, 'i', ARGV[job + 3], 't', ARGV[job + 4])
    if not filled[name] then
      filled[name] = true
      if redis.call('SADD', ready, name) + redis.call('SREM', waiting, name) > 0 then
        redis.call('PUBLISH', channel, 'w ' .. partition .. ' ' .. name)
      end
    end
    job = job + 5
  end
  local last = string.format('%.0f', base + count - 1)
  if step and step.number > 0 then
    redis.call('HSET', w, 't' .. step.number, list, 'ps', step.number + 1, 'z', last)
    if ended > 0 then redis.call('HINCRBY', w, 'x', -ended) end
  else
    local all = step and step.total or count
    redis.call('HSET', w, 's', string.format('%.0f', base), 'n', all, 't', list,
      'x', ended == 0 and all or string.format('%.0f', all - ended), 'r', '0', 'l', ttl, 'ap', app)
    if step then redis.call('HSET', w, 'ps', 1, 'z', last) end
  end
  for i = 1, ended do
    redis.call('HSET', d, ARGV[at], ARGV[at + 1])
    redis.call('HINCRBY', w, ARGV[at + 2], 1)
    tally(ARGV[at + 2], 1, app)
    at = at + 3
  end
  if step then return redis.call('HGET', w, 'x') == '0' end
  return ended == tonumber(count)
end
