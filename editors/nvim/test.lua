-- Prints the diagnostics and a hover of the template in the current buffer, and fails if they are not the expected ones.
local function fail(message)
  io.stderr:write(message .. '\n')
  vim.cmd('cquit')
end

-- Returns the hover at a line and a column, both from 0.
local function hover(line, column)
  local params = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = line, character = column } }
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', params, 10000) or {}
  for _, answer in pairs(answers) do
    if answer.result then
      local lines = vim.lsp.util.convert_input_to_markdown_lines(answer.result.contents)
      return table.concat(lines, '\n')
    end
  end
  return ''
end

vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end)
local found = vim.diagnostic.get(0)
for _, diagnostic in ipairs(found) do
  io.write(('%d:%d: %s %s\n'):format(diagnostic.lnum + 1, diagnostic.col + 1, diagnostic.code or '', diagnostic.message))
end
if #found ~= 1 or found[1].lnum ~= 1 or not found[1].message:find('imge', 1, true) then
  fail('expected one diagnostic about `imge` in line 2')
end
local function shows(cluster)
  local text = ''
  -- The server answers from the values before the choice until it has read those of the cluster.
  vim.wait(10000, function() text = hover(2, 9) return text:find(cluster, 1, true) end, 200)
  io.write('hover: ' .. text .. '\n')
  if not text:find(cluster, 1, true) then fail('expected the value of cluster `' .. cluster .. '`') end
end

shows('eu-1')
local names = vim.fn.getcompletion('DropforgeCluster u', 'cmdline')
if table.concat(names, ' ') ~= 'us-1' then fail('expected cluster `us-1`, found ' .. vim.inspect(names)) end
vim.cmd('DropforgeCluster us-1')
shows('us-1')
local told = ''
vim.notify = function(message) told = message end
vim.cmd('DropforgeCluster us1')
io.write('refused: ' .. told .. '\n')
if not told:find('did you mean `us-1`', 1, true) then fail('expected an error about cluster `us1`') end
vim.cmd('quitall!')
