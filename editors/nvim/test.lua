-- Prints the diagnostics and a hover of the template in the current buffer, and fails if they are not the expected ones.
local function fail(message)
  io.stderr:write(message .. '\n')
  vim.cmd('cquit')
end

-- Prints the hover at a line and a column, both from 0.
local function hover(line, column)
  local params = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = line, character = column } }
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', params, 10000) or {}
  for _, answer in pairs(answers) do
    if answer.result then
      local lines = vim.lsp.util.convert_input_to_markdown_lines(answer.result.contents)
      local text = table.concat(lines, '\n')
      io.write('hover: ' .. text .. '\n')
      return text
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
if not hover(2, 9):find('eu-1', 1, true) then fail('expected the value of cluster `eu-1`') end
local names = vim.fn.getcompletion('DropforgeCluster u', 'cmdline')
if table.concat(names, ' ') ~= 'us-1' then fail('expected cluster `us-1`, found ' .. vim.inspect(names)) end
vim.cmd('DropforgeCluster us-1')
if not vim.wait(10000, function() return hover(2, 9):find('us-1', 1, true) end, 500) then
  fail('expected the value of cluster `us-1`')
end
vim.cmd('quitall!')
