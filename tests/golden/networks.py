# SPDX-License-Identifier: Apache-2.0
"""The networks that are recorded, layer by layer as trireme/graph/zoo adds them."""
import torch
import torch.nn.functional as F

L2 = 1e-4


def mnist_cnn(net, x):
    x = net.relu(net.conv2d(x, 32, 3))
    x = net.relu(net.conv2d(x, 64, 3))
    x = net.dropout(net.max_pool(x, 2), 0.25)
    x = net.relu(net.dense(x.flatten(1), 128))
    x = net.dropout(x, 0.5)
    return net.dense(x, 10)


def resnet_block(net, x, filters, stride):
    y = net.relu(net.batch_norm(net.conv2d(x, filters, 3, stride, "same", l2=L2)))
    y = net.batch_norm(net.conv2d(y, filters, 3, 1, "same", l2=L2))
    if stride > 1:
        x = net.conv2d(x, filters, 1, stride, "same", l2=L2)
    return net.relu(x + y)


def resnet_8(net, x):
    x = net.relu(net.batch_norm(net.conv2d(x, 16, 3, 1, "same", l2=L2)))
    for stage in range(3):
        net.scope = "stage%d/block1" % (stage + 1)
        x = resnet_block(net, x, 16 << stage, 2 if stage > 0 else 1)
    net.scope = ""
    return net.dense(x.mean((2, 3)), 10)


def activated(net, x):
    return net.relu(net.batch_norm(x))


def densenet_layer(net, x, growth, rate):
    y = net.dropout(net.conv2d(activated(net, x), 4 * growth, 1, 1, "same", bias=False, l2=L2), rate)
    y = net.dropout(net.conv2d(activated(net, y), growth, 3, 1, "same", bias=False, l2=L2), rate)
    return torch.cat((x, y), 1)


def densenet_transition(net, x, rate):
    y = net.conv2d(activated(net, x), x.shape[1] // 2, 1, 1, "same", bias=False, l2=L2)
    return F.avg_pool2d(net.dropout(y, rate), 2)


def densenet_10(net, x):
    x = net.conv2d(x, 24, 3, 1, "same", bias=False, l2=L2)
    for block in range(1, 4):
        net.scope = "block%d/layer1" % block
        x = densenet_layer(net, x, 12, 0.1)
        net.scope = "transition%d" % block
        if block < 3:
            x = densenet_transition(net, x, 0.1)
    net.scope = ""
    return net.dense(activated(net, x).mean((2, 3)), 10)
